"""The metrics for Prometheus: requests, rows, the queue, the time of scoring, the workers."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from assay.server.jobs import ChunkResult

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counts of one server, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "assay_requests", "Requests answered.", ["route", "status"], registry=self.registry
        )
        self.request_seconds = Histogram(
            "assay_request_seconds",
            "From the first byte of a request to the last of its answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.rows = Counter(
            "assay_rows", "Rows judged.", ["reward", "outcome"], registry=self.registry
        )
        self.scoring_seconds = Histogram(
            "assay_scoring_seconds",
            "What a worker takes for one chunk of rows.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self.worker_restarts = Counter(
            "assay_worker_restarts",
            "Worker processes replaced, because they died or were ended at a deadline.",
            ["cause"],
            registry=self.registry,
        )
        self.queue_rows = Gauge(
            "assay_queue_rows", "Rows accepted and not finished.", registry=self.registry
        )
        self.workers = Gauge("assay_workers", "Worker processes there are.", registry=self.registry)

    def watch(self, queue_rows: Callable[[], float], workers: Callable[[], float]) -> None:
        """Read the queue and the workers from these, whenever the metrics are read."""
        self.queue_rows.set_function(queue_rows)
        self.workers.set_function(workers)

    def count_rows(self, result: ChunkResult) -> None:
        """Count a chunk that came back, or was given up."""
        for (reward, outcome), count in result.counts.items():
            self.rows.labels(reward, outcome).inc(count)
        if result.elapsed_s:
            self.scoring_seconds.observe(result.elapsed_s)

    def text(self) -> bytes:
        """All of it, in Prometheus's text format."""
        return generate_latest(self.registry)
