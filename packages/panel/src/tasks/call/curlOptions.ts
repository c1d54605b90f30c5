/** The long names of short curl options that take a value or that this file handles. */
const shorts: ReadonlyMap<string, string> = new Map(
  `A=user-agent b=cookie C=continue-at c=cookie-jar D=dump-header d=data E=cert e=referer
  F=form f=fail G=get H=header I=head i=include K=config m=max-time N=no-buffer O=remote-name
  o=output P=ftp-port Q=quote r=range S=show-error s=silent T=upload-file t=telnet-option
  U=proxy-user u=user v=verbose w=write-out X=request x=proxy Y=speed-limit y=speed-time
  z=time-cond`
    .split(/\s+/)
    .map((pair) => [pair.charAt(0), pair.slice(2)] as const)
)

/**
 * All curl 8 options that take a value. The word after such an option is its value rather than the
 * URL.
 */
const valued: ReadonlySet<string> = new Set(
  `abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config
  connect-timeout connect-to continue-at cookie cookie-jar create-file-mode crlfile curves data
  data-ascii data-binary data-raw data-urlencode delegation dns-interface dns-ipv4-addr
  dns-ipv6-addr dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save
  expect100-timeout form form-string ftp-account ftp-alternative-to-user ftp-method ftp-port
  ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip header hostpubmd5 hostpubsha256 hsts
  interface ip-tos ipfs-gateway json keepalive-cnt keepalive-time key key-type krb libcurl
  limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs
  max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max parallel-max-host pass
  pinnedpubkey preproxy proto proto-default proto-redir proxy proxy-cacert proxy-capath proxy-cert
  proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key proxy-key-type proxy-pass
  proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype proxy-tlspassword
  proxy-tlsuser proxy-user proxy1.0 pubkey quote random-file range rate referer request
  request-target resolve retry retry-delay retry-max-time sasl-authzid service-name sigalgs socks4
  socks4a socks5 socks5-gssapi-service socks5-hostname speed-limit speed-time stderr telnet-option
  tftp-blksize time-cond tls-max tls13-ciphers tlsauthtype tlspassword tlsuser trace trace-ascii
  trace-config unix-socket upload-file upload-flags url url-query user user-agent variable
  vlan-priority write-out`.split(/\s+/)
)

/** True for options that affect only curl's output. */
export const isOutputOption = (name: string) =>
  /^(?:dump-header|fail|fail-with-body|include|no-buffer|no-progress-meter|output|progress-bar|remote-name|show-error|silent|verbose|write-out|#)$/.test(
    name
  )

/** An option in a curl command. A word that is not an option becomes the value of `url`. */
export interface CurlOption {
  /** The option as written: `-X`. */
  readonly given: string
  /** The option's long name without dashes, such as `request` for `-X`. */
  readonly name: string
  readonly value: string
}

/**
 * Parses a command's options, written as `-sX POST`, `-XPOST`, `--request POST` or
 * `--request=POST`.
 */
export const parseCurlOptions = (words: ReadonlyArray<string>): ReadonlyArray<CurlOption> => {
  const parts: Array<CurlOption> = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ""
    if (/^(?:[;|]|&&?)$/.test(word)) break
    if (/^[\d&]?[<>]/.test(word)) {
      if (/^[\d&]?[<>]+$/.test(word)) at++
      continue
    }
    const [, long, joined] = /^--([\w.-]+)(?:=(.*))?$/s.exec(word) ?? []
    if (long !== undefined) {
      const value = joined ?? (valued.has(long) ? words[++at] : undefined) ?? ""
      parts.push({ given: `--${long}`, name: long, value })
    } else if (/^-./s.test(word)) {
      for (const part of shortPartsOf(word)) {
        const waits = valued.has(part.name) && part.value === ""
        parts.push(waits ? { ...part, value: words[++at] ?? "" } : part)
      }
    } else parts.push({ given: word, name: "url", value: word })
  }
  return parts
}

/**
 * Splits `-sSXPOST` into `-s`, `-S` and `-X POST`. An option that takes a value takes the rest of
 * the word.
 */
const shortPartsOf = (word: string): ReadonlyArray<CurlOption> => {
  const parts: Array<CurlOption> = []
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at)
    const name = shorts.get(letter) ?? letter
    const takesAll = valued.has(name)
    parts.push({ given: `-${letter}`, name, value: takesAll ? word.slice(at + 1) : "" })
    if (takesAll) break
  }
  return parts
}
