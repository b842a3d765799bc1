"""inbetweening"""
