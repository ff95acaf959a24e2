"""The plan as data: steps with what they need, destroy and prove. Standard library only."""
