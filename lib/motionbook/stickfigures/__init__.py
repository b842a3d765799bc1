"""stickfigures"""
