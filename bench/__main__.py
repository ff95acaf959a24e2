"""`python -m bench`: every benchmark that needs no virtual machine."""

from bench import growth, startup

print("Start-up, as whole processes, median of 15 in turn")
startup.main()
print("\nGrowth, as whole processes, median of 3 in turn; aims: 2.2 per doubling, 300 MiB")
growth.main()
