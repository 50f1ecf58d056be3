import Backend
import Testing
