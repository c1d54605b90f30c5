declare const kind: unique symbol

/**
 * An id with the kind of its record, so that an API key id is rejected where a cron task id is
 * expected. Plain strings are accepted everywhere.
 */
export type Id<Kind extends string> = string & { readonly [kind]?: Kind }
