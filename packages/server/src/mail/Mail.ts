export interface Mail {
  /** The email's id. It is the same for every attempt to send the email. */
  readonly id: string
  /** The id by which mail clients group emails into a thread. */
  readonly thread: string | undefined
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The result of sending a message through a mail server or another provider. `again` means that the
 * message should be retried.
 */
export interface SendResult {
  readonly outcome: "delivered" | "again" | "never"
  readonly status_code: number | null
  readonly response: string | null
  readonly error: string | null
  /** The minimum pause before the next message, if the provider has requested one. */
  readonly after_seconds: number | null
  /** True if the recipient does not exist. The channel is then paused. */
  readonly gone: boolean
}
