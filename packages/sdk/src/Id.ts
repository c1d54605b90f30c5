declare const kind: unique symbol

/**
 * An id with the kind of its record: the id of an API key is refused where the id of a cron task is
 * wanted. A plain string is accepted everywhere.
 */
export type Id<Kind extends string> = string & { readonly [kind]?: Kind }
