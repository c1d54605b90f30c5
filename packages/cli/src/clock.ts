/** Reads the machine's clock. No other module of the command line may read it. */
// oxlint-disable-next-line house/no-machine-clock -- see above
export const now = (): number => Date.now()
