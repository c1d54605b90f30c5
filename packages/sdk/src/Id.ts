declare const kind: unique symbol

/**
 * An id that knows what it is the id of: the id of an API key is refused where that of a cron task
 * is wanted. A plain string is accepted everywhere.
 */
export type Id<Kind extends string> = string & { readonly [kind]?: Kind }
