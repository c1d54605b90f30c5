/** A mail that is ready to be sent. */
export interface Mail {
  /** Stays the same at every attempt to send the mail. */
  readonly id: string
  /** Mail clients show mails with the same thread together. */
  readonly thread: string | undefined
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The result of handing a message to a mail server or another provider. */
export interface SendResult {
  readonly outcome: "delivered" | "again" | "never"
  readonly status_code: number | null
  readonly response: string | null
  readonly error: string | null
  /** The pause that the provider asks for before the next message. */
  readonly after_seconds: number | null
  /** The recipient no longer exists, so the channel is disabled. */
  readonly gone: boolean
}
