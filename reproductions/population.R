# sdcMicro's own estimate, for reproductions/population.py: Rscript population.R modRisk.R SAMPLE.csv ...
# Prints of each sample how many of its uniques are expected to be unique in the population.
suppressMessages({library(data.table); library(MASS)})
setClass("sdcMicroObj", representation("VIRTUAL"))  # the file has a method for it, which is not called here
files <- commandArgs(trailingOnly = TRUE)
source(files[1])
for (file in files[-1]) {
  sample <- read.csv(file)
  effects <- as.formula(paste("~", paste(setdiff(names(sample), "weight"), collapse = "+")))
  found <- modRisk(sample, method = "IPF", weights = "weight", formulaM = effects)
  cat(found$gr1 * length(found$inclProb), "\n")
}
