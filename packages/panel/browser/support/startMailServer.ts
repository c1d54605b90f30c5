import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { SMTPServer } from "smtp-server"

interface Mail {
  readonly to: ReadonlyArray<string>
  readonly source: string
}

/** Starts a real mail server, which stops when the process exits. */
export const startMailServer = async () => {
  const mails: Array<Mail> = []
  const smtp = new SMTPServer({
    logger: false,
    authOptional: true,
    onData: async (stream, { envelope }, callback) => {
      const source = Buffer.concat(await stream.toArray()).toString()
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), source })
      callback()
    }
  })
  smtp.on("error", () => {})
  smtp.listen(0, "127.0.0.1")
  smtp.server.unref()
  await once(smtp.server, "listening")
  const { port } = smtp.server.address() as AddressInfo
  return {
    environment: {
      SMTP_URL: `smtp://127.0.0.1:${port}?tls.rejectUnauthorized=false`,
      MAIL_FROM: "service@example.com"
    },
    /** Waits for an email to an address and returns its button's link. */
    linkIn: async (email: string, subject: string): Promise<string> => {
      for (let tries = 0; tries < 100; tries++) {
        const mail = mails.findLast(
          ({ source, to }) => to.includes(email) && source.includes(`\r\nSubject: ${subject}\r\n`)
        )
        const html = mail?.source.replaceAll("=\r\n", "").replaceAll("=3D", "=") ?? ""
        const link = /class="button" href="([^"]+)"/.exec(html)?.[1]
        if (link !== undefined) return link
        await sleep(100)
      }
      throw new Error(`${email} got no mail "${subject}" within ten seconds`)
    }
  }
}
