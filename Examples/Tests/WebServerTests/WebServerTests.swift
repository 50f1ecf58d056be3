import Testing
import WebServer
