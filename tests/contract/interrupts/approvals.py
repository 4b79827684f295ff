from nodestep.middleware import InterruptRule, gt, should_interrupt

rules = [InterruptRule(tool="refund", match=gt("amount", 100))]

print(should_interrupt(rules, "refund", {"amount": 120.0}))
print(should_interrupt(rules, "refund", {"amount": 20.0}))
print(should_interrupt(rules, "refund", {"amount": "a lot"}))
print(should_interrupt(rules, "lookup_order", {"order_id": "A-1001"}))
