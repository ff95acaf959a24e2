"""`python -m bench`: every benchmark that needs no virtual machine."""

from bench import growth, placement, startup

print("Start-up, as whole processes, median of 15 in turn")
startup.main()
print("\nGrowth, as whole processes, median of 3 in turn; aims: 2.2 per doubling, 300 MiB")
growth.main()
print(
    "\nPlacement from one pool, processor time in one process, median of 3; aims: 1 s for 1,000 disks in 100 arrays, 2.3 per doubling"
)
placement.main()
