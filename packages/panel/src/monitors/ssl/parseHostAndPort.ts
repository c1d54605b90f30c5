interface Server {
  readonly host: string
  readonly port: string
}

/** Splits a URL or `host:8443`, typed into the host field, into a host and a port. */
export const parseHostAndPort = ({ host, port }: Server): Server => {
  const text = host.trim()
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  if (!isAddress && !/^[^\s:/]+:\d+$/.test(text)) return { host: text, port }
  const url = URL.parse(isAddress ? text.replace(/^[^:]+/, "https") : `https://${text}`)
  if (url === null || url.hostname === "") return { host: text, port }
  // The API expects an IPv6 address without brackets.
  return { host: url.hostname.replaceAll(/[[\]]/g, ""), port: url.port || port }
}
