"""Errors of our own operations."""

from __future__ import annotations

from moto.core.exceptions import ServiceException


class ServiceError(ServiceException):
    """Needed as a class of ours: moto looks for the service of an exception in its module's name."""
