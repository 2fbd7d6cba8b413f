"""What :mod:`ffgrad.tf` is made of: the operation library, the gradients of its operations, shapes, the Keras layer."""
