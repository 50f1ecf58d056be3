# To be sourced: memory in large pages for who compiles, where glibc can ask for them (2.35) and the system gives them on
# request. The compiler then takes a tenth less of the processor's time.
#
# Not for tests that weigh their own process, which large pages round up.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.malloc.hugetlb=1
