"""Texts as arguments in TensorFlow."""

from __future__ import annotations

import tensorflow as tf
from ffgrad.tf import enzyme
from support.fixtures import Write

SOURCE = """
double f(const char *kind, const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += kind[0] == 's' ? x[i] * x[i] : x[i];
  return s;
}
"""


def test_a_text_is_a_constant(write: Write) -> None:
    """Eagerly and in a graph."""
    f = enzyme(write(SOURCE), "f", "kind, x[n] -> return")
    x = tf.Variable([1.0, 2.0], dtype=tf.float64)
    with tf.GradientTape() as tape:
        y = f("squares", x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
    assert tf.function(lambda x: f("plain", x))(x).numpy() == 3.0
