import type { ExchangeDetails } from "@scheduling/calls/CallResult"

/**
 * Encodes the details of an exchange as one column of the history. The first line has the times of
 * DNS, connecting, TLS and waiting in milliseconds, separated by commas. A time that is not known
 * is empty: `,,,40`. The response headers follow, one per line.
 */
export const exchangeText = (exchange: ExchangeDetails | null): string | null => {
  if (exchange === null) return null
  const { connect_ms, dns_ms, headers, tls_ms, wait_ms } = exchange
  const times = [dns_ms, connect_ms, tls_ms, wait_ms].map((ms) => ms ?? "").join(",")
  return headers === null ? times : `${times}\n${headers}`
}

/** Decodes the output of `exchangeText`. */
export const parseExchangeText = (text: string | null): ExchangeDetails => {
  if (text === null) return noExchange
  const end = text.indexOf("\n")
  const times = text.slice(0, end === -1 ? text.length : end).split(",")
  const timeAt = (index: number) => {
    const ms = times[index] ?? ""
    return ms === "" ? null : Number(ms)
  }
  return {
    dns_ms: timeAt(0),
    connect_ms: timeAt(1),
    tls_ms: timeAt(2),
    wait_ms: timeAt(3),
    headers: end === -1 ? null : text.slice(end + 1)
  }
}

const noExchange: ExchangeDetails = {
  dns_ms: null,
  connect_ms: null,
  tls_ms: null,
  wait_ms: null,
  headers: null
}
