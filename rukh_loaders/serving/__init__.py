"""What a loader is made of.

ranks        which samples of an epoch each rank serves
state        where a loader stands
prefetch     batches made ahead by one thread
placement    pinned memory and the way to a device
"""
