"""Texts: attributions of a classifier to words, to words with only their neighbours, and to sentences."""
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import apportion

texts = ["a wonderful film , warm and funny", "funny , clever and warm", "a wonderful story , well told",
         "clever and well played", "a dull film , slow and cold", "slow , dull and badly told",
         "a cold story , badly played", "not funny , not clever", "not warm , dull", "not dull , wonderful"]
is_good = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]
vectorizer = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\w+")
classifier = make_pipeline(vectorizer, LogisticRegression(C=50)).fit(texts, is_good)


def log_odds(texts):
    return classifier.decision_function(texts)


text = "Well told and warm. Not funny, not clever."
words = apportion.explain_text(log_odds, text)
print(words)
assert np.isclose(words.values.sum() + words.base_values, words.predictions)

# Each word interacts only with its neighbours on either side, so that even long texts need few evaluations.
near = apportion.explain_text(log_odds, text, value="c-shapley=2", graph="line")
print(near)

# Sentences are the players.
sentences = apportion.explain_text(log_odds, text, value="quotient-shapley", groups="sentences")
print(dict(zip(sentences.feature_names, sentences.values.round(3).tolist())))
assert len(sentences.values) == 2
