import { isIPv6 } from "node:net"

/** Returns a URL with this host, for functions that check whether a URL is allowed. */
export const urlOfHost = (host: string): string => `https://${isIPv6(host) ? `[${host}]` : host}/`
