import Yams
import Logging
import AccountStorage
import OAuthClient
print("hi")
