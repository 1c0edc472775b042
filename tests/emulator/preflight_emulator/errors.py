"""Errors of our own operations."""

from __future__ import annotations

from moto.core.exceptions import ServiceException


class ServiceError(ServiceException):
    """A class of ours: moto reads an exception's service from the name of its module."""
