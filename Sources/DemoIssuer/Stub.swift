internal import NIOHTTP1
