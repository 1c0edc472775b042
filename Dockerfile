# karpenter-preflight on a distroless base: no shell, not root.
#
#   docker build --build-arg COMMIT=$(git rev-parse --short HEAD) --tag karpenter-preflight .
#
# Pin both bases by digest where you need the same bytes again.
FROM rust:1.95-slim-bookworm AS build
# The C compiler is for the TLS library.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends cmake=3.25.* g++=4:12.* make=4.3-* \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY policies policies
ARG COMMIT=""
# The path of the sources is part of panic messages; everything else that varies is stripped.
RUN export RUSTFLAGS=--remap-path-prefix=/source=. \
    && if [ -n "$COMMIT" ]; then export KARPENTER_PREFLIGHT_COMMIT="$COMMIT"; fi \
    && cargo build --locked --release

FROM gcr.io/distroless/cc-debian12:nonroot
ARG COMMIT=""
LABEL org.opencontainers.image.title="karpenter-preflight" \
      org.opencontainers.image.description="Says what in an AWS account will stop Karpenter or EKS Auto Mode from working, before it does" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=build /source/target/release/karpenter-preflight /usr/local/bin/karpenter-preflight
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/karpenter-preflight"]
CMD ["--help"]
