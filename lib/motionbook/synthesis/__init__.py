"""What is made rather than recorded: performers and their motion, the prompts of chapter 4, the raters of chapter 5."""
