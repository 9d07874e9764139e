"""Trains the network of digits38_cnn.json on digits38.csv.gz.

Needs numpy and takes a few seconds: python3 train_digits38.py
"""

import csv
import gzip
import json

import numpy as np


def read():
    with gzip.open("digits38.csv.gz", "rt") as file:
        table = np.array([[float(cell) for cell in row] for row in list(csv.reader(file))[1:]])
    index = np.arange(len(table))
    test = (index + 1) * 100 // len(table) > index * 100 // len(table)
    return table[:, :-1].reshape(-1, 8, 8) / 16, table[:, -1], test


def patches(images):
    """Returns the 3 x 3 neighbourhood of every pixel, with zeros beyond the border: rows x 8 x 8 x 9."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return np.stack([padded[:, i : i + 8, j : j + 8] for i in range(3) for j in range(3)], axis=-1)


def forward(weights, inputs):
    """Applies convolution, ReLU, max pooling over 2 x 2 blocks, and one dense output."""
    maps = np.maximum(inputs @ weights["kernels"].T + weights["biases"], 0)
    blocks = maps.reshape(-1, 4, 2, 4, 2, 8).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 4, 4, 8, 4)
    pooled = blocks.max(axis=-1)
    logits = pooled.reshape(len(inputs), 128) @ weights["dense"] + weights["bias"]
    return logits, maps, blocks, pooled


def gradients(weights, inputs, target, penalty):
    logits, maps, blocks, pooled = forward(weights, inputs)
    error = (1 / (1 + np.exp(-logits)) - target) / len(target)
    back = (error[:, None] * weights["dense"]).reshape(pooled.shape)
    chosen = np.eye(4)[blocks.argmax(axis=-1)] * back[..., None]
    chosen = chosen.reshape(-1, 4, 4, 8, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(maps.shape) * (maps > 0)
    return {
        "kernels": np.einsum("bijf,bijp->fp", chosen, inputs) + penalty * weights["kernels"],
        "biases": chosen.sum(axis=(0, 1, 2)),
        "dense": pooled.reshape(len(target), 128).T @ error + penalty * weights["dense"],
        "bias": error.sum(),
    }


images, target, test = read()
inputs = patches(images)
rng = np.random.default_rng(0)
weights = {
    "kernels": rng.normal(0, 1 / 3, (8, 9)),
    "biases": np.zeros(8),
    "dense": rng.normal(0, 0.1, 128),
    "bias": np.zeros(()),
}
first = {name: np.zeros_like(value) for name, value in weights.items()}
second = {name: np.zeros_like(value) for name, value in weights.items()}
for step in range(1, 601):
    for name, slope in gradients(weights, inputs[~test], target[~test], 1e-3).items():
        first[name] = 0.9 * first[name] + 0.1 * slope
        second[name] = 0.999 * second[name] + 0.001 * slope**2
        size = np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
        weights[name] = weights[name] - 0.01 * first[name] / (1 - 0.9**step) / size
weights = {name: np.round(value, 5) for name, value in weights.items()}
logits = forward(weights, inputs)[0]
right = (logits > 0) == (target == 1)
print("accuracy: train", right[~test].mean(), "test", right[test].mean(), "first logits", logits[:4])
with open("digits38_cnn.json", "w") as file:
    json.dump({name: value.tolist() for name, value in weights.items()}, file)
