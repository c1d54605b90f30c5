/**
 * The issuer of identities from the authenticating proxy. Each identity's subject is an email
 * address.
 */
export const proxyIssuer = "proxy"
