/** What an execution called or a monitor checks. Shows nothing if it is unknown. */
export const TargetText = ({ target }: { readonly target: string | undefined }) =>
  target === undefined ? null : <p className="font-mono text-sm wrap-anywhere text-ink">{target}</p>
