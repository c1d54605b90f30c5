export interface Mail {
  /** The id of the mail, the same for every attempt to send it. */
  readonly id: string
  /** The id by which mail clients group mails into a thread. */
  readonly thread: string | undefined
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The result of sending a message to a mail server or another provider. `again` means that the
 * message should be retried.
 */
export interface SendResult {
  readonly outcome: "delivered" | "again" | "never"
  readonly status_code: number | null
  readonly response: string | null
  readonly error: string | null
  /** The minimum pause before the next message, as requested by the provider. */
  readonly after_seconds: number | null
  /** True if the recipient does not exist. In this case the channel is paused. */
  readonly gone: boolean
}
