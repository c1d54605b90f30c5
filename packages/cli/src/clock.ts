/** The one place that reads the clock of the machine: a command line has no other. */
// oxlint-disable-next-line house/no-machine-clock -- see above
export const now = (): number => Date.now()
