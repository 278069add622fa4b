"""Two proofs: a reward of Assay's trains a policy, and a policy finds the hole in a reward.

python -m examples.training.prove --proof arithmetic --out runs/training
python -m examples.training.prove --proof digits --out runs/training
"""
