def pytest_configure(config):
    config.addinivalue_line("markers", "slow: runs training programs on the virtual GPU")
