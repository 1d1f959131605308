"""What a program asks about itself: explanations, pictures for notebooks, the build."""
