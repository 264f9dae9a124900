// Package fuzz sends a peer inputs that no one wrote, valid ones and others, and holds
// what comes back against the sentences of spec/.
//
// An input follows from the seed and its number alone. What has to come of it is told
// by the harness's strict reader; whether it came is judged by the steps of the
// features, many inputs together behind one barrier. What looks wrong is repeated by
// itself, as a scenario, and made smaller while it still fails; what is printed is that
// scenario.
//
// It imports the steps, the suite for the features' own inputs, and the harness. Where
// the text leaves open what a peer does, nothing is judged.
package fuzz
