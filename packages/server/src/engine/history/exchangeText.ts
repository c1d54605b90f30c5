import type { ExchangeDetails } from "@scheduling/calls/CallResult"

/**
 * An exchange as one column of the history. The first line has the times of the name server, of
 * connecting, of TLS and of waiting, in milliseconds and with commas between them, empty where there
 * is none: `,,,40`. The headers of the answer follow, a line for each.
 */
export const exchangeText = (exchange: ExchangeDetails | null): string | null => {
  if (exchange === null) return null
  const { connect_ms, dns_ms, headers, tls_ms, wait_ms } = exchange
  const times = [dns_ms, connect_ms, tls_ms, wait_ms].map((ms) => ms ?? "").join(",")
  return headers === null ? times : `${times}\n${headers}`
}

/** Reads what `exchangeText` wrote. */
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
