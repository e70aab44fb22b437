"""What `shoal attack --help` says of the attacks, from their registries."""

from __future__ import annotations

import click

from shoal.cli.options import PolicyCommand


class AttackCommand(PolicyCommand):
    """A command that lists all attacks below its options."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from shoal.kind import kinds

        for kind in kinds():
            if kind.attacks:
                with formatter.section(f"Attacks on {kind.policy.plural}"):
                    formatter.write_dl([(a.name, a.title) for a in kind.attacks])
        super().format_epilog(ctx, formatter)
