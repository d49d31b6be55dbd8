"""What the puppet of matrix-nio can do about verification: by emoji, to a device, without a request before it."""

import base64
import hashlib

from nio import Api, KeyVerificationCancel, KeyVerificationEvent, KeyVerificationKey, KeyVerificationMac, KeyVerificationStart
from nio.crypto import Sas


def _check_commitment(sas, key):
    """nio writes a commitment in hexadecimal, and calls off what any other client has written."""
    start = Api.to_canonical_json(sas.start_verification().content)
    digest = hashlib.sha256((key + start).encode()).digest()
    return sas.commitment in (digest.hex(), base64.b64encode(digest).decode().rstrip("="))


class OldMac:
    """nio says that it uses the old MAC, and uses the new one."""

    def __init__(self, established):
        self.bytes = established.bytes
        self.calculate_mac = established.calculate_mac_invalid_base64


def _establish_sas(sas, key):
    sas.established_sas = OldMac(sas.diffie_hellman(key))
    sas.their_sas_key = key


Sas._check_commitment = _check_commitment
Sas.establish_sas = _establish_sas


class SasVerbs:
    """Verbs for a puppet that has a `client`."""

    def see_verification(self, event):
        """Tells where a verification is after an event."""
        if not isinstance(event, KeyVerificationEvent):
            return
        flow_id = event.transaction_id
        sas = self.client.key_verifications.get(flow_id)
        if isinstance(event, KeyVerificationKey) and sas is not None and not sas.canceled:
            emoji, decimal = [name for _, name in sas.get_emoji()], list(sas.get_decimals())
            self.event("sas", flowId=flow_id, emoji=emoji, decimal=decimal)
        elif isinstance(event, KeyVerificationStart):
            self._tell(flow_id, event.sender, "started", event.from_device)
        elif isinstance(event, KeyVerificationCancel):
            self._tell(flow_id, event.sender, "cancelled", code=event.code)
        elif isinstance(event, KeyVerificationMac):
            self._see_end(flow_id)

    def _see_end(self, flow_id):
        """The end is when both have confirmed, whoever was the first."""
        sas = self.client.key_verifications.get(flow_id)
        if sas is not None and sas.verified:
            self._tell(flow_id, sas.other_olm_device.user_id, "done", sas.other_olm_device.id)

    def _tell(self, flow_id, user_id, phase, device_id=None, code=None):
        self.event("verification", flowId=flow_id, userId=user_id, deviceId=device_id, phase=phase, code=code)

    async def do_start_sas(self, user_id, device_id):
        await self.do_await_device(user_id, device_id)
        known = set(self.client.key_verifications)
        await self.client.start_key_verification(self.client.device_store[user_id][device_id])
        return (set(self.client.key_verifications) - known).pop()

    async def do_accept_sas(self, flow_id):
        await self.client.accept_key_verification(flow_id)

    async def do_confirm_sas(self, flow_id):
        await self.client.confirm_short_auth_string(flow_id)
        self._see_end(flow_id)

    async def do_cancel_verification(self, flow_id):
        await self.client.cancel_key_verification(flow_id)

    async def do_mismatch_sas(self, flow_id):
        await self.client.cancel_key_verification(flow_id, reject=True)
