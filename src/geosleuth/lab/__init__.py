"""The laboratory: measuring answers, drawn scenes, training. The core never imports it."""
