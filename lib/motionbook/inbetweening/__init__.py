"""Chapter 3: fill the frames between a context and a target, and measure how well that was done.

``windows`` is the door (clips in metres to windows in centimetres), ``baselines`` predict, ``metrics`` measure,
``evaluation`` runs the benchmark over folds, ``generator`` makes the clips that people are shown.
"""
