"""What the puppet of mautrix-python can do with the secret storage, and the identity whose keys are in it."""

from mautrix.crypto.ssss import Machine as SecretStorage

from puppet import bytes_answer, from_base64


class StorageVerbs:
    """Verbs of a puppet that has a client."""

    async def do_create_secret_storage(self, passphrase=None):
        storage = SecretStorage(self.client)
        key = await storage.generate_and_upload_key(passphrase)
        await storage.set_default_key_id(key.id)
        return key.recovery_key

    async def do_generate_recovery_key(self):
        return await self.client.crypto.generate_recovery_key()

    async def do_verify_with_recovery_key(self, recovery_key):
        await self.client.crypto.verify_with_recovery_key(recovery_key)

    async def do_master_key(self):
        keys = await self.client.crypto.get_own_cross_signing_public_keys()
        return keys.master_key

    async def do_store_secret(self, name, value, **opener):
        storage = SecretStorage(self.client)
        await storage.set_encrypted_account_data(name, from_base64(value), await self._storage_key(storage, **opener))

    async def do_read_secret(self, name, **opener):
        storage = SecretStorage(self.client)
        secret = await storage.get_decrypted_account_data(name, await self._storage_key(storage, **opener))
        return bytes_answer(secret)["bytes"]

    async def _storage_key(self, storage, recovery_key=None, passphrase=None):
        key_id, data = await storage.get_default_key_data()
        if passphrase is None:
            return data.verify_recovery_key(key_id, recovery_key)
        return data.verify_passphrase(key_id, passphrase)
