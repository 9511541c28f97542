#!/bin/bash
make clean
echo "rm -rf build"
