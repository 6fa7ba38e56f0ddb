"""A mail relay by aiosmtpd. Prints its port, then what Python's email package reads in every
message, one JSON object a line."""

import asyncio
import json
from email import message_from_bytes, policy

from aiosmtpd.smtp import SMTP


def defects(message):
    found = [str(defect) for part in message.walk() for defect in part.defects]
    return found + [str(d) for value in message.values() for d in getattr(value, "defects", ())]


def body(message, kind):
    part = message.get_body((kind,))
    return part.get_content().replace("\r\n", "\n") if part else None


class Handler:
    async def handle_DATA(self, server, session, envelope):
        message = message_from_bytes(envelope.content, policy=policy.default)
        read = {
            "recipients": envelope.rcpt_tos,
            "headers": message.keys(),
            "subject": message["subject"],
            "to": message["to"],
            "type": message.get_content_type(),
            "parts": [part.get_content_type() for part in message.iter_parts()],
            "text": body(message, "plain"),
            "html": body(message, "html"),
            "defects": defects(message),
        }
        print(json.dumps(read), flush=True)
        return "250 taken"


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(Handler()), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
