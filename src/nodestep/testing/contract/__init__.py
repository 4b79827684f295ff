"""What every store promises, as tests. They take a fixture `store`, which is fresh for each, and `clock`, its clock.

For a store of your own, run them through the plugin (see `nodestep.testing.plugin`):

    pytest -p nodestep.testing.plugin --nodestep-store my_package.stores:make --pyargs nodestep.testing.contract
"""
