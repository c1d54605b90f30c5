/** Whether somebody signs in on their way to an invitation. */
export const isInvited = (next: string | undefined): boolean =>
  next !== undefined && /^\/invitation(?:[?#]|$)/.test(next)
