export interface Mail {
  /** The id of the mail, the same at every attempt to send it. */
  readonly id: string
  /** The id by which mail clients show mails together. */
  readonly thread: string | undefined
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The result of handing a message to a mail server or another provider. `again` means: retry. */
export interface SendResult {
  readonly outcome: "delivered" | "again" | "never"
  readonly status_code: number | null
  readonly response: string | null
  readonly error: string | null
  /** The pause that the provider asks for before the next message. */
  readonly after_seconds: number | null
  /** True if the recipient does not exist. The channel is paused then. */
  readonly gone: boolean
}
