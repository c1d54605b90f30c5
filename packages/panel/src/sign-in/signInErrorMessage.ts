const problems: Readonly<Record<string, (provider: string) => string>> = {
  expired: () => "The sign-in took too long or was started in another window. Start again.",
  denied: (provider) => `You cancelled the sign-in, or ${provider} did not let you in.`,
  provider_unavailable: (provider) => `${provider} does not respond. Try again in a moment.`,
  email_unverified: (provider) =>
    `${provider} has not verified your email address. Verify it there, or ask its operator.`,
  domain_not_allowed: () => "Email addresses of your domain are not allowed to sign in here.",
  registration_closed: () =>
    "You have no account here, and registration is closed. Ask the operator for an account.",
  linked_otherwise: () =>
    "The account with your email address is linked to another identity. Ask the operator to unlink it.",
  account_disabled: () => "Your account is disabled. Ask the operator.",
  other_address: (provider) =>
    `${provider} works only at the public address of this server. Open the panel there.`,
  too_many: () => "There were too many sign-ins from your network. Try again in 15 minutes."
}

/**
 * Explains why the service rejected a user whom the identity provider or the proxy had
 * authenticated.
 */
export const signInErrorMessage = (problem: string, provider: string): string =>
  problems[problem]?.(provider) ??
  `The sign-in at ${provider} failed. The operator can find the reason in the server log.`
