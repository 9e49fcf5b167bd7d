"""The nano model: a small vision-language model from random weights, and all that it takes to train it quickly."""
