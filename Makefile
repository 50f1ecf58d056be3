# The commands of this project. Each only calls a script, so that a red run anywhere is reproduced by one command.

.PHONY: demo test check stress docs format benchmark storm fleet clean

demo: ## build and start the backend and the three apps, until Ctrl-C
	@scripts/demo

test: ## run every test there is: the package, the examples, the page in a real browser
	@scripts/failures-last scripts/test

check: ## format, layout, warnings as errors, documents
	@scripts/check

docs: ## build the reference of all modules as one site, for any web server
	@scripts/docs

stress: ## race threads through every operator under ThreadSanitizer and AddressSanitizer
	@scripts/stress --short

format: ## put all Swift files into the project's format
	@scripts/format

benchmark: ## print nanoseconds and allocations per value, beside plain Swift in the same run
	@scripts/benchmark

storm: ## play an outage for 20,000 clients with each retry policy, and with the tuned one
	@scripts/storm

fleet: ## ten processes, Redis and an outage: policies of each process beside shared ones
	@scripts/fleet

clean: ## remove everything that was built
	@rm -rf .build .build-* Examples/Artefacts Benchmarks/HTTP/.build
