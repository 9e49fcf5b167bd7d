"""Many runs of a team with different settings, each reply asked for once.

What holds truths is in ``learning``; nothing else here can import it.
"""
